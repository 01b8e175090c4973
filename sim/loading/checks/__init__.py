"""What must agree between the parts of a scenario, beyond each part being well formed.

One module a section, or a matter between two. A check takes those parts that it needs and yields
what is wrong, at places within them; `agreement.py` has all of them in the order in which they are
told.
"""
