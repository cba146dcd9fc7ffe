import Plants
import TactusDaemon

/// A plant as documents show it.
struct SeenPlant: Sendable {
  let plant: Plant
  private let condition: PlantCondition?
  private let watering: SeenWatering?

  /// Creates the view of one plant.
  ///
  /// - Parameter link: the settings of the plant's link to a zone, or `nil` if there is no link.
  init(_ plant: Plant, _ view: PlantView, _ link: PlantWateringSettings?) {
    self.plant = plant
    condition = view.conditions[plant.id]
    watering = link.map { SeenWatering($0, plant, view) }
  }

  var id: Int { Int(clamping: plant.id.number) }
  var name: String { plant.name.text }
  private var alerts: Set<PlantAlert> { condition?.alerts ?? [] }
  private var sensors: [String] { plant.sensors.map(\.text) }
  private var alertWords: [String] { alerts.sorted().map(\.rawValue) }
  var isWell: Bool { alerts.isEmpty }
  private var word: String { isWell ? "ok" : "problem" }
  private var moisture: Double? { condition?.moisturePercent }
  private var celsius: Double? { condition?.celsius }
  private subscript(raised alert: PlantAlert) -> Bool { alerts.contains(alert) }

  /// The fields of `GET /api/plants/{id}` and of `plants/ID/state` on the broker.
  @DeclarationBuilder<Field<SeenPlant>> static var fields: [Field<SeenPlant>] {
    Field("id", \.id, "Its number, which no other plant gets.")
    Field("state", \.word, "ok or problem, which `alerts` names.")
    Field("user", \.plant.user.key, "Whose it is: a client's name, or `#` and a hash of one that is no plain name.")
    Field("name", \.name, "What that user calls it.")
    Field("sensors", \.sensors, "Its probes.")
    Field(
      "moisturePercent", \.moisture.tenths, unit: .percent,
      "Mean of the probes that are not silent and read what soil can be; null if there is none.")
    Field(
      "temperatureCelsius", \.celsius.tenths, unit: .celsius,
      "Mean of those that have a thermometer; null: no probe of it has one that answers.")
    Field("alerts", \.alertWords, "dry, wet, cold, hot, silent; none if all is well.")
    Field("dryPercent", \.plant.limits.dryPercent, unit: .percent, "Below this it is dry; null for no limit.")
    Field(
      "wetPercent", \.plant.limits.wetPercent, unit: .percent,
      "Above this it is wet, more than `dryPercent`; null for no limit.")
    Field("coldCelsius", \.plant.limits.coldCelsius, unit: .celsius, "Below this it is cold; null for no limit.")
    Field(
      "hotCelsius", \.plant.limits.hotCelsius, unit: .celsius,
      "Above this it is hot, more than `coldCelsius`; null for no limit.")
    Field(
      "lastWateredISO", \.plant.lastWatered?.text,
      "When it was last seen watered, by a person's word or by a rise of its moisture; null: not that we know.")
    Group(
      "pictureArea", \.plant.pictureArea,
      "The part of the daily picture that shows it, in percent of the whole; null: all of it."
    ) { PlantPictureArea.fields }
    Group("watering", \.watering, "Its link to a sprinkler zone; null if there is none.") { SeenWatering.fields }
  }

  /// The fields in `/metrics`.
  @DeclarationBuilder<Field<SeenPlant>> static var metrics: [Field<SeenPlant>] {
    Field("plant", \.id, metric: .none, "Its number.")
    Field("name", \.name, "What its user calls it.")
    Field(
      "moisturePercent", \.moisture, unit: .percent,
      "A plant's moisture, 0…1; absent while all its probes are silent.")
    Field("temperatureCelsius", \.celsius, unit: .celsius, "A plant's temperature; absent while unknown.")
    PlantAlert.allCases.map { alert in
      Field(
        alert.rawValue, \.[raised: alert], metric: .named("alert", label: "alert", value: alert.rawValue),
        "1 for each alert of a plant that is raised, 0 for the others.")
    }
  }
}

/// The limits of a plant's link and the requests that it has made.
struct SeenWatering: Sendable {
  let settings: PlantWateringSettings
  private let record: PlantWateringRecord?
  private let needsConfirmation: Bool
  private let waitsFor: String?

  init(_ settings: PlantWateringSettings, _ plant: Plant, _ view: PlantView) {
    self.settings = settings
    let condition = view.conditions[plant.id]
    record = view.records.waterings[plant.id]
    needsConfirmation = condition?.needsConfirmation ?? true
    let waits = needsConfirmation && condition?.alerts.contains(.dry) == true
    waitsFor = waits ? "\(PlantNews.waits) (\(PlantNews.wayToConfirm(plant.id)))" : nil
  }

  @DeclarationBuilder<Field<SeenWatering>> static var fields: [Field<SeenWatering>] {
    Field("zone", \.settings.zone, "The zone that is asked.")
    Field("seconds", \.settings.seconds, unit: .seconds, "How long, each time.")
    Field("maxPerDay", \.settings.maximumPerDay, "Requests in one local day, at most.")
    Field("minGapSec", \.settings.minimumGapSeconds, unit: .seconds, "Between two requests, at least.")
    Field("askedISO", \.record?.last.text, "When it last asked; null if never.")
    Field("askedThatDay", \.record.asked, "Requests on the day of `askedISO`.")
    Field(
      "needsConfirmation", \.needsConfirmation,
      "Whether it has not been seen not dry since it was added or calibrated, and nobody has said that it may be watered."
    )
    Field(
      "waitsFor", \.waitsFor,
      "While it is dry and needs a confirmation: what it waits for and how to confirm, in words; null: nothing.")
  }
}

extension PlantPictureArea {
  @DeclarationBuilder<Field<PlantPictureArea>> static var fields: [Field<PlantPictureArea>] {
    Field("left", \.left, unit: .percent, "From the picture's left edge.")
    Field("top", \.top, unit: .percent, "From its upper edge.")
    Field("width", \.width, unit: .percent, "How wide.")
    Field("height", \.height, unit: .percent, "How high.")
  }
}

extension PlantWateringRecord? {
  fileprivate var asked: Int { self?.count ?? 0 }
}

extension Double? {
  /// The value rounded to one decimal.
  var tenths: Double? { map { ($0 * 10).rounded() / 10 } }
}

extension Double {
  /// The value rounded to one decimal.
  var tenths: Double { (self * 10).rounded() / 10 }
}
