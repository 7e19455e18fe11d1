# Install rules: see the issue of packaging.
