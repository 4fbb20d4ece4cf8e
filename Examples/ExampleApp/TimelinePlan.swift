import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet

/// What the command line asks for, once all of it is known to make sense.
struct TimelinePlan {
    /// Where the posts come from.
    enum Source: Equatable {
        case embedded
        case server(URL)
    }

    let source: Source
    /// The pins that were asked for; empty when none was.
    let pins: [PublicKeyPin]
    let refusesToPin: Bool
    let pageSize: Int
    let printsOnce: Bool

    /// What these words of a command line ask for.
    init(arguments: [String]) throws {
        try self.init(TimelineOptions.parse(arguments))
    }

    init(_ options: TimelineOptions) throws {
        source = try Self.source(options.url)
        pins = try Self.pins(options.pins)
        refusesToPin = options.insecureNoPin
        pageSize = options.pageSize
        printsOnce = options.once
        guard pageSize > 0 else { throw UsageError("--page-size \(pageSize) shows nothing; give 1 or more.") }
        guard pins.isEmpty || !refusesToPin else {
            throw UsageError("--pin and --insecure-no-pin contradict each other; leave one out.")
        }
        if case .server(let url) = source, url.scheme?.lowercased() != "https", !pins.isEmpty {
            throw UsageError("--pin needs https, and \(url.absoluteString) is not; write https:// or leave --pin out.")
        }
    }

    /// Who is trusted, given the anchors and the pins that hold when none was asked for.
    func policy(anchors: TrustAnchors, otherwise known: [PublicKeyPin] = []) throws(SecurityError) -> SecurityPolicy {
        let pins = refusesToPin ? [] : self.pins.isEmpty ? known : self.pins
        return pins.isEmpty ? .systemTrust(anchors: anchors) : try .publicKeyPins(pins, anchors: anchors)
    }

    private static func source(_ text: String?) throws -> Source {
        guard let text else { return .embedded }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host()?.isEmpty == false
        else {
            throw UsageError("--url \"\(text)\" is no http or https URL with a host; write it as https://example.com.")
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
