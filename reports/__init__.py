"""From recordings to numbers, figures and pages."""
