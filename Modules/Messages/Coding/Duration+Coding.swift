extension Duration {
    /// The limit of times that are coded to the nanosecond: 24 days, in seconds. Longer times are coded to the
    /// millisecond, so that the number of seconds is exact in a `Double`.
    private static let nanosecondLimit = Double(1 << 21)
    /// The longest time: 35,000 years, in seconds.
    private static let longest = Double(1 << 40)

    /// Reads a number of seconds; nil if it is not finite or too large.
    package init?(codedSeconds seconds: Double) {
        guard seconds.isFinite, abs(seconds) < Self.longest else { return nil }
        if abs(seconds) < Self.nanosecondLimit {
            self = .nanoseconds(Int64((seconds * 1e9).rounded()))
        } else {
            self = .milliseconds(Int64((seconds * 1e3).rounded()))
        }
    }

    /// The number of seconds for encoders.
    package var codedSeconds: Double {
        let (whole, attoseconds) = (Double(components.seconds), components.attoseconds)
        guard abs(whole) < Self.nanosecondLimit else {
            return (whole * 1e3 + Double(attoseconds / 1_000_000_000_000_000)) / 1e3
        }
        return (whole * 1e9 + Double(attoseconds / 1_000_000_000)) / 1e9
    }
}

extension KeyedDecodingContainer {
    /// A number of seconds; nil if it is absent or null.
    package func seconds(_ key: Key) throws -> Duration? {
        guard let seconds = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard let duration = Duration(codedSeconds: seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "The number of seconds is out of range.")
        }
        return duration
    }

    /// A number of seconds, or null for none; the default if it is absent.
    package func seconds(_ key: Key, default value: Duration?) throws -> Duration? {
        contains(key) ? try seconds(key) : value
    }
}

extension KeyedEncodingContainer {
    /// Encodes a number of seconds, or null for none.
    package mutating func encode(seconds duration: Duration?, forKey key: Key) throws {
        try encode(duration?.codedSeconds, forKey: key)
    }
}
