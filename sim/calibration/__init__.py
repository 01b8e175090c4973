"""What a store of one's own takes: measured, or given as samples, and made a profile."""
