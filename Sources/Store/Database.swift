import GRDB
import Sprinkler

/// One SQLite file.
public struct Database {}
