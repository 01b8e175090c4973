"""How commands print: tables and lines for people, made with rich."""
