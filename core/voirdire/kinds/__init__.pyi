from voirdire.kinds._column import Cells as Cells
from voirdire.kinds._column import says_nothing as says_nothing
from voirdire.kinds._labels import labels_in as labels_in
