import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetJSON

/// An item of a request on the command line, such as `name=text`.
enum RequestItem: Equatable {
    case header(HTTPField)
    case query(String, String)
    case text(String, String)
    case json(String, JSONValue)
    case file(String, String)

    /// The separators; a longer one comes before its beginning.
    private static let separators = [":=@", "=@", ":=", "==", ":", "=", "@"]

    /// Parses an item. The first separator ends its name. The files of `=@` and `:=@` are read.
    init(_ text: String) throws {
        guard let (name, separator, value) = Self.split(text), !name.isEmpty else {
            throw UsageError(
                "\"\(text)\" is not an item: name=text, name:=JSON, name==text, Name:value or name@file.")
        }
        self =
            switch separator {
            case ":": .header(try HeaderField.parse(text))
            case "==": .query(name, value)
            case "=": .text(name, value)
            case "=@": .text(name, try Self.read(value))
            case ":=": .json(name, try Self.parse(value, of: text))
            case ":=@": .json(name, try Self.parse(Self.read(value), of: text))
            default: .file(name, value)
            }
    }

    var queryEntry: ParameterValue.Entry? {
        if case .query(let name, let value) = self { ParameterValue.Entry(name, .string(value)) } else { nil }
    }

    var headerField: HTTPField? { if case .header(let field) = self { field } else { nil } }

    /// Whether the item is in the body.
    var isData: Bool { queryEntry == nil && headerField == nil }

    private static func split(_ text: String) -> (String, String, String)? {
        for index in text.indices {
            guard let separator = separators.first(where: { text[index...].hasPrefix($0) }) else { continue }
            return (String(text[..<index]), separator, String(text[index...].dropFirst(separator.count)))
        }
        return nil
    }

    private static func parse(_ json: String, of item: String) throws -> JSONValue {
        do {
            return try JSONValue(parsing: Data(json.utf8))
        } catch {
            throw UsageError("\"\(item)\" has no JSON after :=. Strings are in quotes there; name=text needs none.")
        }
    }

    private static func read(_ path: String) throws -> String {
        guard let text = String(data: try InputFile.read(path), encoding: .utf8) else {
            throw UsageError("\"\(path)\" is not a text in UTF-8.")
        }
        return text
    }
}
