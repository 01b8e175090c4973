"""What people decide with: plans, sensitivities, advice, and what is behind refusals."""
