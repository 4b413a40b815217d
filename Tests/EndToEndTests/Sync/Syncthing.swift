import Foundation
import TestSupport

/// Instances of Syncthing that know only each other, on this machine alone.
final class Syncthing {
  let home: String
  let folder: String
  let port: Int
  let device: String
  private var daemon: Daemon?

  init(_ folder: String, home: String) throws {
    (self.folder, self.home) = (folder, home)
    port = try freePort()
    let path = tool("syncthing")!
    try shell("\"$2\" generate --home=\"$3\" --no-default-folder --skip-port-probing", path, home)
    device = try shell("\"$2\" --home=\"$3\" --device-id", path, home)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    try FileManager.default.createDirectory(
      atPath: folder + "/.stfolder", withIntermediateDirectories: true)
    // What is not complete is carried from neither a notebook nor a folder of files.
    try "(?d).tmp-*\n(?d).decent-*\n".write(
      toFile: folder + "/.stignore", atomically: true, encoding: .utf8)
  }

  /// As its users have it, but for what would look for others, and with shorter waits.
  func configure(_ others: [Syncthing]) throws {
    let devices = others.map {
      """
      <device id="\($0.device)" name="\($0.port)"><address>tcp://127.0.0.1:\($0.port)</address></device>
      """
    }
    let members = others.map { "<device id=\"\($0.device)\"></device>" }
    try """
    <configuration version="36">
      <folder id="notes" label="notes" path="\(folder)" type="sendreceive" rescanIntervalS="10"
          fsWatcherEnabled="true" fsWatcherDelayS="1" ignorePerms="false" autoNormalize="true">
        <filesystemType>basic</filesystemType>
        \(members.joined())
        <minDiskFree unit="%">0</minDiskFree>
        <maxConflicts>10</maxConflicts>
        <markerName>.stfolder</markerName>
      </folder>
      \(devices.joined())
      <gui enabled="false"></gui>
      <options>
        <listenAddress>tcp://127.0.0.1:\(port)</listenAddress>
        <globalAnnounceEnabled>false</globalAnnounceEnabled>
        <localAnnounceEnabled>false</localAnnounceEnabled>
        <relaysEnabled>false</relaysEnabled>
        <natEnabled>false</natEnabled>
        <stunKeepaliveStartS>0</stunKeepaliveStartS>
        <reconnectionIntervalS>1</reconnectionIntervalS>
        <startBrowser>false</startBrowser>
        <urAccepted>-1</urAccepted>
        <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
        <crashReportingEnabled>false</crashReportingEnabled>
        <minHomeDiskFree unit="%">0</minHomeDiskFree>
      </options>
    </configuration>
    """.write(toFile: home + "/config.xml", atomically: true, encoding: .utf8)
  }

  func start() throws {
    daemon = try Daemon(
      [
        tool("syncthing")!, "serve", "--home=\(home)", "--no-browser", "--no-restart",
        "--no-upgrade", "--logfile=\(home)/log",
      ], environment: ["STNOUPGRADE": "1", "HOME": home], log: home + "/errors")
    try daemon!.await(port: port)
  }

  func stop() {
    daemon?.end(SIGTERM)
    daemon = nil
  }

  var log: String { (try? String(contentsOfFile: home + "/log", encoding: .utf8)) ?? "" }
}
