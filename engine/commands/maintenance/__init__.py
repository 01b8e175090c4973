"""Commands that rearrange or remove files, and leave the rows as they are."""
