internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSession

/// The JSON text of settings. Errors name its lines.
enum SettingsText {
    private static let longest = 1 << 21

    static func write(_ settings: HTTPSession.Settings) throws(SessionError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let json: Data
        do {
            json = try encoder.encode(settings)
        } catch EncodingError.invalidValue(_, let context) {
            throw failure(context.debugDescription, PolicyPlace(line: nil, path: PolicyPath.text(context.codingPath)))
        } catch {
            throw SessionError(.invalidConfiguration, "\(error)", underlying: error)
        }
        guard json.count <= longest else { throw failure("The settings have more than \(longest) bytes.") }
        return json
    }

    static func read(_ json: Data) throws(SessionError) -> HTTPSession.Settings {
        guard json.count <= longest else { throw failure("The settings have more than \(longest) bytes.") }
        // The decoder also accepts UTF-16 and UTF-32, which contain zero bytes.
        guard !json.contains(0), String(validating: json, as: UTF8.self) != nil else {
            throw failure("The settings are not encoded in UTF-8.")
        }
        let settings: HTTPSession.Settings
        do {
            settings = try JSONDecoder().decode(HTTPSession.Settings.self, from: json)
        } catch {
            throw translated(error, PolicyText(json))
        }
        if let error = PolicyText(json).flaw { throw SessionError(.invalidConfiguration, "\(error)") }
        return settings
    }

    private static func translated(_ error: any Error, _ text: PolicyText) -> SessionError {
        func located(_ message: String, _ context: DecodingError.Context) -> SessionError {
            let path = PolicyPath.text(context.codingPath)
            // The path can contain an invented key of the file.
            return failure(message, PolicyPlace(line: text.line(of: path), path: path.oneLine), underlying: error)
        }
        switch error {
        case DecodingError.typeMismatch(let type, let context), DecodingError.valueNotFound(let type, let context):
            return located("The value must be \(PolicyDecoding.name(type)).", context)
        case DecodingError.keyNotFound(let key, let context):
            return located("The key \"\(key.stringValue.oneLine)\" is missing.", context)
        case DecodingError.dataCorrupted(let context):
            let message = context.debugDescription.oneLine
            // A syntax error has no location; its line is unknown.
            return context.codingPath.isEmpty ? failure(message, underlying: error) : located(message, context)
        case var error as SecurityError:
            // An error in an included file has a line of that file.
            if error.file == nil, error.line == nil { error.line = error.path.flatMap { text.line(of: $0) } }
            return SessionError(.invalidConfiguration, "\(error)", underlying: error)
        default:
            return failure("The settings cannot be read: \("\(error)".oneLine)", underlying: error)
        }
    }

    private static func failure(
        _ message: String, _ place: PolicyPlace? = nil, underlying: (any Error)? = nil
    ) -> SessionError {
        SessionError(.invalidConfiguration, (place?.prefix ?? "") + message, underlying: underlying)
    }
}
