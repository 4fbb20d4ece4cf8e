internal import FoundationEssentials

/// The types that `JSONDecoder` decodes by its strategies, or from other values than they encode themselves.
extension JSONTapeDecoder {
    /// Throws the error for null before a strategy can fail.
    private func checkNull(_ type: Any.Type) throws {
        if document.isNull(at: index) { throw mismatch(type) }
    }

    func date() throws -> Date {
        try checkNull(Date.self)
        switch document.settings.dates {
        case .standard:
            if let seconds = usualDate(fraction: true) { return Date(timeIntervalSinceReferenceDate: seconds) }
            return try JSONDecodingSettings.standardDate(from: self)
        case .strategy(let strategy): return try date(strategy)
        }
    }

    private func date(_ strategy: JSONDecoder.DateDecodingStrategy) throws -> Date {
        switch strategy {
        case .secondsSince1970: return Date(timeIntervalSince1970: try decode(Double.self))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try decode(Double.self) / 1000)
        case .iso8601:
            if let seconds = usualDate(fraction: false) { return Date(timeIntervalSinceReferenceDate: seconds) }
            let text = try decode(String.self)
            if UsualDate.namesDay(text), let date = try? Date.ISO8601FormatStyle().parse(text) { return date }
            throw corrupted("\(String(text.prefix(60)).debugDescription) is not a date in ISO 8601.")
        case .custom(let closure): return try closure(self)
        default: return try Date(from: self)
        }
    }

    /// The date of a string in the form that servers usually write; nil for anything else.
    private func usualDate(fraction: Bool) -> Double? {
        guard document.tape.kind(at: index) == .string else { return nil }
        return UsualDate.seconds(document.text(at: index), fraction: fraction)
    }

    func data() throws -> Data {
        try checkNull(Data.self)
        switch document.settings.data {
        case .base64:
            guard let data = Data(base64Encoded: try decode(String.self)) else {
                throw corrupted("The string is not Base64.")
            }
            return data
        case .custom(let closure): return try closure(self)
        default: return try Data(from: self)
        }
    }

    func url() throws -> URL {
        try checkNull(URL.self)
        guard let url = URL(string: try decode(String.self)) else { throw corrupted("The string is not a URL.") }
        return url
    }

    func decimal() throws -> Decimal {
        switch document.tape.kind(at: index) {
        case .integer, .number:
            let text = String(decoding: document.text(at: index), as: UTF8.self)
            guard let value = Decimal(string: text), value.isFinite else { throw unrepresentable(Decimal.self) }
            return value
        default: throw mismatch(Decimal.self)
        }
    }
}
