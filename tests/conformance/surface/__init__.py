"""The tensor surface as rows of the matrix, one module per group."""
