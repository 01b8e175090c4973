"""HTML from templates: of whole pages, and of what a result shows of itself in a notebook."""
