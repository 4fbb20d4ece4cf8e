import ArgumentParser
import Linnet

/// Requests a URL from a server whose key is known.
@main
struct PinnedRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-pinned-request")

    @Argument(help: "The URL, with https.")
    var url: String

    @Argument(help: "The pins of the server's key and of a backup key, such as sha256/BASE64.")
    var pins: [String]

    @Option(help: "A file with the certificates of additional authorities.")
    var authority: String?

    func run() async throws {
        let anchors: TrustAnchors = try authority.map { try .file($0) } ?? .system
        let policy = try SecurityPolicy.publicKeyPins(pins.map { try PublicKeyPin($0) }, anchors: anchors)
        let session = try HTTPSession { $0.securityPolicy = policy }
        do {
            print(try await session.get(url).text())
        } catch {
            // Nothing was sent if the key is another one.
            guard let refusal = error.trustRefusal else { throw error }
            print("refused: \(refusal.reason)")
            print("seen: \(refusal.seenPins.map(\.description).joined(separator: " "))")
            throw ExitCode.failure
        }
        await session.shutdown()
    }
}
