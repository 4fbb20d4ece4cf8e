import ArgumentParser
import Linnet

/// Requests a URL that another party has chosen, such as a webhook or a link preview: within limits of size and time,
/// without credentials, and only over https.
@main
struct UntrustedServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-untrusted-server")

    @Argument(help: "The URL.")
    var url: String

    @Option(help: "The largest body, in bytes.")
    var bytes = 1 << 20

    @Option(help: "The time for everything, in seconds.")
    var seconds = 10

    @Flag(help: "Allows http.")
    var cleartext = false

    func run() async throws {
        guard let target = Origin(url), cleartext || target.scheme == "https" else {
            throw ValidationError("\(url) is not an https URL.")
        }
        let session = try HTTPSession {
            $0.timeouts.request = .seconds(seconds)
            $0.timeouts.connect = .seconds(3)
            $0.maximumBodySize = bytes
            $0.decodingLimits.maximumRatio = 100
            $0.responseLimits.headBytes = 16 << 10
            // A redirect may lead elsewhere: to a name inside the network, for example.
            $0.redirectPolicy.limit = 3
            $0.redirectPolicy.staysAtOrigin = true
            $0.pool.connectionsPerOrigin = 2
        }
        do {
            let response = try await session.get(url).response()
            print("\(response.status.code), \(response.data.count) bytes")
        } catch {
            // Each limit has a code: timeout, bodyTooLarge, and others.
            print("\(error.code): \(error.message)")
            throw ExitCode.failure
        }
        await session.shutdown()
    }
}
