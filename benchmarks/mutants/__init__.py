"""Planted bugs: a campaign of `whitecap chaos` has to find every one that is unsafe."""
