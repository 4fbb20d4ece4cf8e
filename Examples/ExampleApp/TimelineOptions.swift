import ArgumentParser
import FoundationEssentials
import Linnet

/// The command line.
struct TimelineOptions: ParsableArguments {
    @Option(
        help: "Fetch from stream/0/posts/stream/global below this URL instead of from the embedded server.",
        transform: Self.url)
    var url: URL?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "Trust only chains with this key. Repeat the option for a backup key.", valueName: "sha256/BASE64"),
        transform: { try PublicKeyPin($0) })
    var pins: [PublicKeyPin] = []

    @Option(help: "The number of posts to show.")
    var pageSize = 20

    @Flag(
        help: """
            Let the embedded server reset connections, be slow, reset every third response, have another key, or switch \
            between the first three every five seconds.
            """)
    var misbehavior: [Misbehavior] = []

    func validate() throws {
        guard pageSize > 0 else { throw ValidationError("--page-size \(pageSize) is too small; specify 1 or more.") }
        guard misbehavior.isEmpty || url == nil else {
            throw ValidationError(
                "--offline, --slow, --flaky, --bad-pin and --chaos apply to the embedded server; omit --url.")
        }
    }

    /// The security policy with the given anchors, and with pins that apply when the command line has none.
    func policy(anchors: TrustAnchors, otherwise known: [PublicKeyPin] = []) throws(SecurityError) -> SecurityPolicy {
        let pins = pins.isEmpty ? known : pins
        return pins.isEmpty ? .systemTrust(anchors: anchors) : try .publicKeyPins(pins, anchors: anchors)
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else { throw ValidationError("It is not an http or https URL with a host, such as https://example.com.") }
        return url
    }
}
