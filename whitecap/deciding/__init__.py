"""What people decide with, besides plans: which parameters move a result."""
