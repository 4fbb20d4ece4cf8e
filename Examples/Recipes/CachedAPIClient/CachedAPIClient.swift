import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetDiskCache

/// Requests a URL three times, and prints the part of the cache on disk in each: a miss, a hit, and offline.
@main
struct CachedAPIClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-cached-api-client")

    @Argument(help: "The URL of a JSON document.")
    var url: String

    @Argument(help: "The folder of the cache.")
    var folder: String

    func run() async throws {
        let session = try HTTPSession {
            $0.cacheStore = try .tiered(memory: 4 << 20, disk: 50 << 20, at: URL(filePath: folder))
            $0.collapsesEqualRequests = true
        }
        for isOffline in [false, false, true] {
            let call = session.get(url).options { if isOffline { $0.cachePolicy = .cacheOnly } }
            let response = try await call.response()
            print(response.cacheOutcome?.description ?? "no cache", response.data.count)
        }
        await session.shutdown()
    }
}
