"""What is seldom asked for, in little room: compressed blocks, found by hashes of their keys."""
