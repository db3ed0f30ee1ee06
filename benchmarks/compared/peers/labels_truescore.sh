truescore audit labels.csv --judge judge --gold human
