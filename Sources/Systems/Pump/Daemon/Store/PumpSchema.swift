import GRDB
import Store

extension StoreSystem {
  /// The cooling pump's tables: its sessions, its values by the minute, and the used part of its run limit.
  public static let pump = StoreSystem(
    contents: [
      StoreContent("sessions", in: "pump_session", time: "start", .joined),
      StoreContent("minutes of readings", in: "pump_minute", time: "start", .joined),
    ],
    migrations: [
      Migration(name: "pump.1") { database in
        try database.execute(
          sql: """
            CREATE TABLE pump_session (
              number INTEGER PRIMARY KEY, start INTEGER NOT NULL, seconds REAL NOT NULL, started_by TEXT,
              end TEXT, ended_by TEXT, speed_percent REAL, water_first REAL, water_last REAL, water_highest REAL,
              skin_first REAL, skin_last REAL, skin_highest REAL, seal INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX pump_session_start ON pump_session (start);
            """)
      },
      Migration(name: "pump.2") { database in
        try database.execute(
          sql: """
            CREATE TABLE pump_limit (
              id INTEGER PRIMARY KEY, boot TEXT, is_pumping INTEGER NOT NULL, since INTEGER NOT NULL,
              before INTEGER NOT NULL, seal INTEGER NOT NULL
            ) STRICT;
            """)
      },
      Migration(name: "pump.3") { database in
        try database.execute(
          sql: "CREATE TABLE pump_note (number INTEGER PRIMARY KEY, note TEXT NOT NULL, seal INTEGER NOT NULL) STRICT;")
      },
      Migration(name: "pump.4") { database in
        try database.execute(
          sql: """
            CREATE TABLE pump_minute (
              start INTEGER PRIMARY KEY, samples INTEGER NOT NULL, running INTEGER NOT NULL,
              speed_count INTEGER NOT NULL, speed_least REAL, speed_mean REAL, speed_highest REAL,
              water_count INTEGER NOT NULL, water_least REAL, water_mean REAL, water_highest REAL,
              skin_count INTEGER NOT NULL, skin_least REAL, skin_mean REAL, skin_highest REAL, seal INTEGER NOT NULL
            ) STRICT;
            """)
      },
    ],
    // The used part of the limit describes the present and stays. Session numbers are assigned once, by one program; of a session in both databases
    // the later version is kept.
    restore: { database in
      // A seal shows that a row is as it was written, not that its values make sense.
      try StoreSystem.refuse(
        "sessions of its pump", in: "pump_session",
        unless: """
          number BETWEEN 1 AND 9007199254740992 AND start BETWEEN 0 AND 253402300799 AND seconds BETWEEN 0 AND 1e9
          AND ifnull(speed_percent, 0) BETWEEN 0 AND 100
          AND max(ifnull(water_first, 0), ifnull(water_last, 0), ifnull(water_highest, 0), ifnull(skin_first, 0),
            ifnull(skin_last, 0), ifnull(skin_highest, 0)) <= 1000
          AND min(ifnull(water_first, 0), ifnull(water_last, 0), ifnull(water_highest, 0), ifnull(skin_first, 0),
            ifnull(skin_last, 0), ifnull(skin_highest, 0)) >= -1000
          """, database)
      try StoreSystem.refuse(
        "notes on sessions of its pump", in: "pump_note",
        unless: "number BETWEEN 1 AND 9007199254740992 AND length(note) BETWEEN 1 AND \(PumpSession.longestNote)",
        database)
      try StoreSystem.refuse(
        "minutes of its pump", in: "pump_minute",
        unless: """
          start BETWEEN 0 AND 253402300799 AND start % 60 = 0 AND samples BETWEEN 1 AND 2147483647
          AND running BETWEEN 0 AND samples AND speed_count BETWEEN 0 AND samples AND water_count BETWEEN 0 AND samples
          AND skin_count BETWEEN 0 AND samples
          AND min(ifnull(speed_least, 0), ifnull(speed_mean, 0), ifnull(speed_highest, 0)) >= 0
          AND max(ifnull(speed_least, 0), ifnull(speed_mean, 0), ifnull(speed_highest, 0)) <= 100
          AND max(ifnull(water_least, 0), ifnull(water_mean, 0), ifnull(water_highest, 0), ifnull(skin_least, 0),
            ifnull(skin_mean, 0), ifnull(skin_highest, 0)) <= 1000
          AND min(ifnull(water_least, 0), ifnull(water_mean, 0), ifnull(water_highest, 0), ifnull(skin_least, 0),
            ifnull(skin_mean, 0), ifnull(skin_highest, 0)) >= -1000
          """, database)
      for table in ["pump_session", "pump_note", "pump_minute"] {
        try database.execute(sql: "INSERT OR IGNORE INTO main.\(table) SELECT * FROM backup.\(table)")
      }
    })
}
