import GRDB
import Store

extension StoreSystem {
  /// The cooling pump's tables: its sessions, and the used part of its run limit.
  public static let pump = StoreSystem(
    contents: [StoreContent("sessions", in: "pump_session", time: "start", .joined)],
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
      for table in ["pump_session", "pump_note"] {
        try database.execute(sql: "INSERT OR IGNORE INTO main.\(table) SELECT * FROM backup.\(table)")
      }
    })
}
