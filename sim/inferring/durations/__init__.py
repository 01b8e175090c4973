"""How long jobs take: windows by what a log shows of them, and what of these is not compute."""
