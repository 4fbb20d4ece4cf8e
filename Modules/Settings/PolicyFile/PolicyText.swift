internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity

/// The lines of the JSON text of a policy or a configuration, by location, and the mistakes that its decoder overlooks.
///
/// A decoder uses one of two values with the same key, while a human reader may assume the other one. It also ignores a
/// comma after the last value, which RFC 8259 does not allow. The decoder has accepted the text, or the part up to an
/// error with a location, so it is enough to track strings, objects and arrays.
struct PolicyText {
    /// An object or array that is still open.
    private struct Container {
        let path: String
        /// The keys so far; nil for an array.
        var keys: Set<String>?
        /// The index of the next element of an array.
        var index = 0
    }

    /// No location of a policy is nested more deeply, except in rules within rules within rules.
    private static let maximumDepth = 24
    /// Longer locations are not noted, which bounds the memory for a text with many values in a deep place.
    private static let longestPath = 256
    /// Stands for a location that is not noted; no location of a policy begins with it.
    private static let unnoted = "?"

    /// The line on which the value of each location begins, from 1.
    private var lines: [String: Int] = ["": 1]
    /// An error for the first key that is repeated or written with an escape, or the first comma before a closing
    /// bracket.
    private(set) var flaw: SecurityError?

    private var open: [Container] = []
    private var line = 1
    /// Whether a comma was the last character outside of strings, besides blanks.
    private var isAfterComma = false
    /// The location of the next value.
    private var path = ""
    private var string: [UInt8] = []
    private var stringLine = 1

    init(_ json: Data) {
        var (isInString, isEscaped) = (false, false)
        for byte in json {
            if byte == UInt8(ascii: "\n") { line += 1 }
            if isInString {
                isInString = byte != UInt8(ascii: "\"") || isEscaped
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                if isInString { string.append(byte) }
            } else {
                isInString = byte == UInt8(ascii: "\"")
                read(byte)
            }
        }
    }

    /// The line of a location, or of the closest enclosing one that exists, because a missing key has no line.
    func line(of path: String) -> Int? {
        var path = path[...]
        while lines[String(path)] == nil, let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) {
            path = path[..<end]
        }
        return lines[String(path)] ?? lines[""]
    }

    private mutating func read(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): return
        case UInt8(ascii: ":"): readKey()
        case UInt8(ascii: ","):
            if let last = open.indices.last { open[last].index += 1 }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if isAfterComma, flaw == nil {
                flaw = SecurityError(.invalidPolicyFile, "A comma stands before a closing bracket.", path: "")
                flaw?.line = line
            }
            _ = open.popLast()
        case UInt8(ascii: "{"): begin(keys: [])
        case UInt8(ascii: "["): begin(keys: nil)
        case UInt8(ascii: "\""):
            (string, stringLine) = ([], line)
            // In an object this is a key, or the value of the key that was read before.
            if open.last?.keys == nil { noteElement() }
        default:
            if open.last?.keys == nil { noteElement() }
        }
        isAfterComma = byte == UInt8(ascii: ",")
    }

    private mutating func begin(keys: Set<String>?) {
        if let last = open.last, last.keys == nil { noteElement() }
        if open.isEmpty { lines[""] = line }
        open.append(Container(path: open.count < Self.maximumDepth ? path : Self.unnoted, keys: keys))
    }

    /// Notes the line of the next element of the open array.
    private mutating func noteElement() {
        guard let last = open.indices.last, open.count <= Self.maximumDepth else { return }
        path = open[last].path + "[\(open[last].index)]"
        note(line)
    }

    /// Notes the line of the location, or gives the location up.
    private mutating func note(_ line: Int) {
        guard path.utf8.count <= Self.longestPath else {
            path = Self.unnoted
            return
        }
        if lines[path] == nil { lines[path] = line }
    }

    private mutating func readKey() {
        guard let last = open.indices.last, let keys = open[last].keys, open.count <= Self.maximumDepth else { return }
        let key = String(decoding: string, as: UTF8.self)
        path = open[last].path.isEmpty ? key : open[last].path + "." + key
        note(stringLine)
        guard flaw == nil else { return }
        // No known key needs an escape, and an escape could hide a repetition.
        if key.contains("\\") {
            flaw = SecurityError(
                .unknownPolicyKey, "The key \"\(key.oneLine)\" is written with an escape.", path: "")
        } else if keys.contains(key) {
            flaw = SecurityError(
                .unknownPolicyKey, "The key \"\(key.oneLine)\" is repeated in one object.", path: "")
        }
        flaw?.line = stringLine
        open[last].keys?.insert(key)
    }
}
