"""What a scenario may say, and what is wrong with one by itself."""
