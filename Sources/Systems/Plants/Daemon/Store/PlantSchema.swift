import GRDB
import Store

extension StoreSystem {
  /// The tables of the plants. A plant is stored as JSON by `Codable`, beside its number and its user's key, which is only a value and never part of
  /// a table's or file's name.
  public static let plants = StoreSystem(
    contents: [
      StoreContent("plants", in: "plants_plant", .replaced),
      StoreContent("calibrations", in: "plants_calibration", .replaced),
      StoreContent("readings", in: "plants_reading", time: "start", .joined),
      StoreContent("events", in: "plants_event", time: "at", .joined),
      StoreContent("pictures", in: "plants_picture", time: "at", .joined),
    ],
    migrations: [
      Migration(name: "plants.1") { database in
        try database.execute(
          sql: """
            CREATE TABLE plants_plant (
              id INTEGER PRIMARY KEY, user TEXT NOT NULL, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE plants_state (
              name TEXT PRIMARY KEY, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE plants_calibration (
              sensor TEXT PRIMARY KEY, dry REAL NOT NULL, wet REAL NOT NULL, seal INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE plants_watering (
              plant INTEGER PRIMARY KEY, value TEXT NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE plants_reading (
              sensor TEXT NOT NULL, span INTEGER NOT NULL, start INTEGER NOT NULL, count INTEGER NOT NULL,
              least REAL NOT NULL, mean REAL NOT NULL, greatest REAL NOT NULL, celsius_count INTEGER NOT NULL,
              celsius REAL, seal INTEGER NOT NULL, PRIMARY KEY (sensor, span, start)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX plants_reading_age ON plants_reading (span, start);
            CREATE TABLE plants_event (
              at INTEGER NOT NULL, plant INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL,
              plant_name TEXT NOT NULL, seal INTEGER NOT NULL, PRIMARY KEY (at, plant, kind, detail)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX plants_event_plant ON plants_event (plant, at);
            """)
      },
      Migration(name: "plants.2") { database in
        try database.execute(
          sql: """
            CREATE TABLE plants_picture (
              day INTEGER PRIMARY KEY, at INTEGER NOT NULL, jpeg BLOB NOT NULL, seal INTEGER NOT NULL
            ) STRICT
            """)
      },
    ],
    restore: PlantTables.restore)
}
