import GRDB
import Store

extension StoreSystem {
  /// What plants keep. A plant is JSON as `Codable` writes it, beside its number and its user's key, which is a value here and never
  /// a name of anything.
  public static let plants = StoreSystem(
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
      }
    ],
    restore: PlantTables.restore)
}
