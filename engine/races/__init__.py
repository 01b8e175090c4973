"""What is built on the engine: races of statements, explained, tabulated, compared with Delta."""
