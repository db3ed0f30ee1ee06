voirdire examine sure.csv --reference human --probability confidence
