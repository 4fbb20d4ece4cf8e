import FoundationEssentials
import Linnet

// The desktop face compiles the files of ExampleSupport that it needs into its own module.
#if canImport(ExampleSupport)
import ExampleSupport
#endif

extension SessionError {
    /// The place, the message, and advice by the code.
    var explanation: String {
        let place = url?.absoluteString ?? "the server"
        return "\(place): \(message.hasSuffix(".") ? message : message + ".") \(advice)"
    }

    private var advice: String {
        switch code {
        case .trustRefused: trustRefusal?.advice ?? "Nothing was sent."
        case .connectionFailed, .nameResolutionFailed:
            "Check the name and the port in --url, and that the server is running."
        case .timeout, .connectionLost: "Try again, or check the load of the server."
        case .tlsFailed: "Check that --url is an HTTPS URL and that the server supports TLS 1.2 or 1.3."
        case .unacceptableStatus where (head?.status.code ?? 0) >= 500:
            "The server failed: try again later, or check its log."
        case .unacceptableStatus, .unacceptableContentType, .decodingFailed:
            "Check that --url is the timeline's base URL."
        default: ""
        }
    }
}

extension TrustRefusal {
    /// The meaning of a pin that does not match.
    static let meaning =
        "The server has a new key, or another server answers in its place and could read all that is sent."

    /// The remedy.
    var advice: String { advice(anchorsOption: "in SSL_CERT_FILE") }

    /// The reason, all seen and wanted pins, what they mean, and what to do.
    var explanation: [String] {
        guard reason == .pinMismatch else { return [message, advice] }
        return ["\(host):\(port) has no key that the policy pins.", "Seen, the server's first:"]
            + seenPins.map { "  \($0)" } + ["Wanted:"] + wantedPins.map { "  \($0)" } + [Self.meaning, advice]
    }
}
