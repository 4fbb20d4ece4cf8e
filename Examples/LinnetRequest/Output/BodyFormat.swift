import FoundationEssentials
import Linnet

/// The format of a body that a terminal shows indented.
enum BodyFormat {
    case json, xml

    /// Returns nil for other media types.
    init?(contentType: String?) {
        guard let type = contentType.flatMap({ MIMEType($0) }) else { return nil }
        switch type.subtype.lowercased() {
        case "json": self = .json
        case "xml": self = .xml
        case let subtype where subtype.hasSuffix("+json"): self = .json
        case let subtype where subtype.hasSuffix("+xml"): self = .xml
        default: return nil
        }
    }

    /// Returns the indented text; nil if the body is not of the format.
    func text(_ body: Data, _ colors: Colors) -> String? {
        switch self {
        case .json: JSONLayout.text(body, colors)
        case .xml: XMLLayout.text(String(decoding: body, as: UTF8.self), colors)
        }
    }
}
