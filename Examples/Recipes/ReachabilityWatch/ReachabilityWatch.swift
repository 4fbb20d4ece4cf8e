import ArgumentParser
import Linnet

/// Prints whether and how the network is reachable, now and at each change.
@main
struct ReachabilityWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-reachability-watch")

    @Option(help: "End after this number of statuses.")
    var count: Int?

    func run() async throws {
        let monitor = try ReachabilityMonitor()
        var printed = 0
        for await status in monitor.statuses {
            print(status)
            printed += 1
            if printed == count { break }
        }
        monitor.stop()
    }
}
