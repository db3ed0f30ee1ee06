from voirdire.examining.planning.drawing import LabelDraw as LabelDraw
from voirdire.examining.planning.drawing import Stratum as Stratum
from voirdire.examining.planning.drawing import draw_labels as draw_labels
from voirdire.examining.planning.drawing import draw_section as draw_section
