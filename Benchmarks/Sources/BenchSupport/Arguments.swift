import Glibc

/// The arguments of every benchmark program: OPERATION URL CONCURRENCY SECONDS [NAME=VALUE …].
package struct Arguments: Sendable {
    package let operation: String
    package let url: String
    package let concurrency: Int
    package let seconds: Double
    package let options: [String: String]
    /// `http://host:port/` of the URL.
    package let base: String
    /// The part of the URL after ``base``.
    package let path: String

    package init?(_ words: [String]) {
        guard words.count >= 5, let concurrency = Int(words[3]), let seconds = Double(words[4]), concurrency > 0 else {
            return nil
        }
        operation = words[1]
        url = words[2]
        self.concurrency = concurrency
        self.seconds = seconds
        var options: [String: String] = [:]
        for word in words.dropFirst(5) {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            options[parts[0]] = parts.count == 2 ? parts[1] : ""
        }
        self.options = options
        base = Self.base(of: url)
        path = String(url.dropFirst(base.count))
    }

    private static func base(of url: String) -> String {
        var slashes = 0
        let end = url.firstIndex { character in
            slashes += character == "/" ? 1 : 0
            return slashes == 3
        }
        return end.map { String(url[...$0]) } ?? url + "/"
    }

    /// The expected length of every body.
    package var bytes: Int { number("bytes", 1024) }
    package var isHTTP2: Bool { options["http"] == "2" }

    package func number(_ name: String, _ otherwise: Int) -> Int {
        options[name].flatMap { Int($0) } ?? otherwise
    }

    package func required(_ name: String) throws -> String {
        guard let value = options[name] else { throw Failure("\(operation) needs \(name)=…") }
        return value
    }
}

/// A failure that invalidates a measurement.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Checks the status and the length of a response.
@inline(__always)
package func check(status: Int, _ bytes: Int, of expected: Int) throws {
    guard status == 200 && bytes == expected else {
        throw Failure("status \(status) with \(bytes) bytes instead of 200 with \(expected)")
    }
}
