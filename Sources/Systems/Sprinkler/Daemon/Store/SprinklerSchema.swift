import GRDB
import Store

extension StoreSystem {
  /// The sprinkler's tables. Zones, programs and queued runs are JSON as encoded by `Codable`, with extra columns for the values that SQL needs.
  public static let sprinkler = StoreSystem(
    contents: [
      StoreContent("zones", in: "sprinkler_zone", .replaced),
      StoreContent("schedules", in: "sprinkler_program", .replaced),
      StoreContent("lines of the watering log", in: "sprinkler_log", time: "start", .joined),
    ],
    migrations: [
      Migration(name: "sprinkler.1") { database in
        try database.execute(
          sql: """
            CREATE TABLE sprinkler_zone (
              id INTEGER PRIMARY KEY, position INTEGER NOT NULL, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE sprinkler_program (
              id INTEGER PRIMARY KEY, position INTEGER NOT NULL, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE sprinkler_pending (
              run INTEGER PRIMARY KEY, position INTEGER NOT NULL, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE sprinkler_state (
              name TEXT PRIMARY KEY, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE sprinkler_start (
              date TEXT NOT NULL, program INTEGER NOT NULL, kind TEXT NOT NULL, minute INTEGER NOT NULL,
              seal INTEGER NOT NULL, PRIMARY KEY (date, program, kind, minute)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE sprinkler_ran (
              zone INTEGER PRIMARY KEY, seconds REAL NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE sprinkler_log (
              start INTEGER NOT NULL, run INTEGER NOT NULL, zone INTEGER NOT NULL, zone_name TEXT NOT NULL,
              program INTEGER, program_name TEXT, is_scheduled INTEGER NOT NULL, asked_seconds INTEGER NOT NULL,
              ran_seconds REAL NOT NULL, outcome TEXT NOT NULL, caller TEXT, seal INTEGER NOT NULL,
              PRIMARY KEY (start, run)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX sprinkler_log_zone ON sprinkler_log (zone, start, run);
            CREATE INDEX sprinkler_log_program ON sprinkler_log (program, start, run);
            """)
      },
      Migration(name: "sprinkler.2") { database in
        try database.execute(
          sql: """
            CREATE TABLE sprinkler_suppressed (
              date TEXT NOT NULL, program INTEGER NOT NULL, kind TEXT NOT NULL, minute INTEGER NOT NULL,
              due INTEGER NOT NULL, why TEXT NOT NULL, seal INTEGER NOT NULL, PRIMARY KEY (date, program, kind, minute)
            ) STRICT, WITHOUT ROWID;
            """)
      },
      Migration(name: "sprinkler.3") { database in
        try database.execute(
          sql: """
            CREATE TABLE sprinkler_why (
              start INTEGER NOT NULL, run INTEGER NOT NULL, why TEXT NOT NULL, seal INTEGER NOT NULL,
              PRIMARY KEY (start, run)
            ) STRICT, WITHOUT ROWID;
            """)
      },
      Migration(name: "sprinkler.4") { database in
        try database.execute(
          sql: """
            CREATE TABLE sprinkler_litres (
              start INTEGER NOT NULL, run INTEGER NOT NULL, asked REAL, flowed REAL, seal INTEGER NOT NULL,
              PRIMARY KEY (start, run)
            ) STRICT, WITHOUT ROWID;
            """)
      },
    ],
    restore: SprinklerTables.mergeLog)
}
