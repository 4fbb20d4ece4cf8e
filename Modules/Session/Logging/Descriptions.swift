internal import FoundationEssentials
internal import HTTPTypes
public import LinnetSerialization

// Descriptions, with `Redaction.standard` applied.

extension SessionRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method, the URL and the header fields, redacted with ``Redaction/standard``.
    public var description: String {
        let fields = headerFields.map { "\($0.name): \(Redaction.standard.value(of: $0))" }.joined(separator: ", ")
        return "\(method) \(Redaction.standard.text(of: url))" + (fields.isEmpty ? "" : " [\(fields)]")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

extension SessionResponse: CustomStringConvertible {
    /// The status, the URL and the size of the body.
    public var description: String {
        "\(status.code) \(status.reasonPhrase) from \(Redaction.standard.text(of: url)), \(data.count) bytes"
    }
}

extension HTTPCall: CustomStringConvertible {
    /// The method and the path or the URL, redacted with ``Redaction/standard``.
    public var description: String {
        switch target {
        case .request(let request): request.description
        case .path(let method, let path):
            "\(method) \(URL(string: path).map(Redaction.standard.text) ?? "an invalid URL")"
        }
    }
}

extension HTTPSession: CustomStringConvertible {
    /// The base URL.
    public var description: String {
        "HTTPSession(\(baseURL.map(Redaction.standard.text) ?? "no base URL"))"
    }
}
