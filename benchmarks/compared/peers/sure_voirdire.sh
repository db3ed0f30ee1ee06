voirdire examine sure.csv --reference human
