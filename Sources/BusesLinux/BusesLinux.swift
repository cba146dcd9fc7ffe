import Buses
