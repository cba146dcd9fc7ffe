import Foundation
import GRDB
import Plants
import Store
import WallTime

/// A daily picture without its bytes.
struct PlantPicture: Sendable, Hashable {
  /// The local day on which it was taken, as days since 1970.
  let day: Int
  /// When it was taken, in seconds since 1970.
  let at: Int64
  /// Its length in bytes.
  let length: Int

  /// The day as documents show it, such as `2026-03-29`.
  var date: String { "\(LocalDate(daysSince1970: day))" }
  /// When it was taken, as documents show it.
  var taken: String { PlantInstant(secondsSince1970: at).text }
}

extension PlantStore {
  /// The days that a picture may have, as days since 1970: until the end of the year 9999.
  static let pictureDays = 0...2_932_896

  /// Stores the picture of a day, replacing the day's present one.
  func keep(_ jpeg: [UInt8], day: Int, at: Int64) throws(StoreError) {
    try file.write("keeping a picture of the plants", by: .byMachine) { database in
      try SealedRow.write([day, at, Data(jpeg)], to: "plants_picture", in: database)
    }
  }

  func hasPicture(of day: Int) throws(StoreError) -> Bool {
    try file.read("looking for a picture") { database in
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM plants_picture WHERE day = ?)", arguments: [day]) ?? false
    }
  }

  /// Returns the pictures before a day, newest first, at most `limit`.
  func pictures(before day: Int, limit: Int) throws(StoreError) -> [PlantPicture] {
    try file.read("reading the plants' pictures") { database in
      try Row.fetchAll(
        database, sql: "SELECT day, at, length(jpeg) FROM plants_picture WHERE day < ? ORDER BY day DESC LIMIT ?",
        arguments: [day, limit]
      ).map { PlantPicture(day: $0[0], at: $0[1], length: $0[2]) }
    }
  }

  /// Returns the picture of a day, or `nil` if there is none.
  func picture(of day: Int) throws(StoreError) -> [UInt8]? {
    try file.read("reading a picture of the plants") { database in
      try Data.fetchOne(database, sql: "SELECT jpeg FROM plants_picture WHERE day = ?", arguments: [day])
        .map { [UInt8]($0) }
    }
  }

  /// Deletes the pictures of the days after a day.
  func prunePictures(after day: Int) throws(StoreError) {
    try file.write("pruning the plants' pictures", by: .byMachine) { database in
      try database.execute(sql: "DELETE FROM plants_picture WHERE day > ?", arguments: [day])
    }
  }

  /// Deletes the oldest pictures until there are at most `count` and they have at most `bytes` together; the newest one stays.
  func prunePictures(count: Int, bytes: Int) throws(StoreError) {
    try file.write("pruning the plants' pictures", by: .byMachine) { database in
      try database.execute(
        sql: """
          DELETE FROM plants_picture WHERE day IN (
            SELECT day FROM (
              SELECT day, row_number() OVER newest AS number, sum(length(jpeg)) OVER newest AS total
              FROM plants_picture WINDOW newest AS (ORDER BY day DESC))
            WHERE number > 1 AND (number > ? OR total > ?))
          """, arguments: [count, bytes])
    }
  }
}
