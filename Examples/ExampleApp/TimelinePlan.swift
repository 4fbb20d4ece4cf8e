import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet

/// The validated command line.
struct TimelinePlan {
    /// The source of the posts.
    enum Source: Equatable {
        case embedded
        case server(URL)
    }

    /// How the timeline is shown.
    enum Output: Equatable {
        /// On the screen of a terminal, or as text without a terminal.
        case screen
        case text
        case json
        case page
    }

    let source: Source
    /// The pins on the command line.
    let pins: [PublicKeyPin]
    let refusesToPin: Bool
    let pageSize: Int
    let output: Output
    let misbehavior: Misbehavior

    /// Parses and validates the arguments of a command line.
    init(arguments: [String]) throws {
        try self.init(TimelineOptions.parse(arguments))
    }

    init(_ options: TimelineOptions) throws {
        source = try Self.source(options.url)
        pins = try Self.pins(options.pins)
        refusesToPin = options.insecureNoPin
        pageSize = options.pageSize
        output = options.serve ? .page : options.json ? .json : options.once ? .text : .screen
        misbehavior = Self.misbehavior(options)
        guard pageSize > 0 else { throw UsageError("--page-size \(pageSize) is too small; specify 1 or more.") }
        guard [options.serve, options.json, options.once].count(where: { $0 }) < 2 else {
            throw UsageError("--serve, --json and --once exclude each other; specify one of them.")
        }
        guard misbehavior.isEmpty || source == .embedded else {
            throw UsageError("--offline, --slow, --flaky and --bad-pin apply to the embedded server; omit --url.")
        }
        guard pins.isEmpty || !refusesToPin else {
            throw UsageError("--pin and --insecure-no-pin contradict each other; omit one of them.")
        }
        if case .server(let url) = source, url.scheme?.lowercased() != "https", !pins.isEmpty {
            throw UsageError("--pin needs https, but the URL is \(url.absoluteString); use https:// or omit --pin.")
        }
    }

    /// The security policy with the given anchors, and with pins that apply when the command line has none.
    func policy(anchors: TrustAnchors, otherwise known: [PublicKeyPin] = []) throws(SecurityError) -> SecurityPolicy {
        let pins = refusesToPin ? [] : self.pins.isEmpty ? known : self.pins
        return pins.isEmpty ? .systemTrust(anchors: anchors) : try .publicKeyPins(pins, anchors: anchors)
    }

    private static func misbehavior(_ options: TimelineOptions) -> Misbehavior {
        let flags: [(Bool, Misbehavior)] = [
            (options.offline, .offline), (options.slow, .slow), (options.flaky, .flaky), (options.badPin, .badPin),
        ]
        return Misbehavior(flags.filter(\.0).map(\.1))
    }

    private static func source(_ text: String?) throws -> Source {
        guard let text else { return .embedded }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host()?.isEmpty == false
        else {
            throw UsageError(
                "--url \"\(text)\" is not an http or https URL with a host; the format is https://example.com.")
        }
        return .server(url)
    }

    private static func pins(_ texts: [String]) throws -> [PublicKeyPin] {
        try texts.map { text in
            do throws(SecurityError) {
                return try PublicKeyPin(text)
            } catch {
                throw UsageError("--pin \(error.message)")
            }
        }
    }
}
