/// The files that the service serves as they are, built into the program.
public enum ServiceDocuments {
  /// The description of the API, without the program's version.
  public static var openAPI: [UInt8] { PackageResources.openapi_json }

  /// The page: each file with its name.
  public static var page: [(name: String, bytes: [UInt8])] {
    [
      ("index.html", PackageResources.index_html),
      ("console.css", PackageResources.console_css),
      ("say.js", PackageResources.say_js),
      ("console.js", PackageResources.console_js),
      ("stop.js", PackageResources.stop_js),
      ("drive.js", PackageResources.drive_js),
      ("loops.js", PackageResources.loops_js),
      ("legs.js", PackageResources.legs_js),
      ("sprinkler.js", PackageResources.sprinkler_js),
      ("pump.js", PackageResources.pump_js),
      ("plants.js", PackageResources.plants_js),
      ("video.js", PackageResources.video_js),
    ]
  }
}
