/// The values of a JSON text in the order of the text, as words of 64 bits that refer to its bytes.
///
/// A scalar is one word: its kind, its length and its offset; a second word has the length if that needs more than 20
/// bits. An array or an object is two words before its content: its kind with the index after its end, and the number
/// of its elements or members. A member is its name and its value. Index 0 is a null that no text contains, for a
/// missing value; index 1 is the root.
struct JSONTape: ~Copyable {
    enum Kind: UInt64 {
        case null, `false`, `true`
        /// A number without a fraction and an exponent.
        case integer
        /// Any other number.
        case number
        /// A string without escapes.
        case string
        case escapedString
        case array, object
    }

    static let missing = 0
    static let root = 1
    private static let longest: UInt64 = 0xF_FFFF

    private(set) var words: UnsafeMutablePointer<UInt64>
    private(set) var count = 0
    private var capacity: Int

    /// Creates a tape with the word at index 0.
    init(capacity: Int) {
        self.capacity = max(16, capacity)
        words = UnsafeMutablePointer<UInt64>.allocate(capacity: self.capacity)
        append(.null, offset: 0, length: 0)
    }

    deinit { words.deallocate() }

    // MARK: Reading

    @inline(__always) func kind(at index: Int) -> Kind {
        Kind(rawValue: words[index] & 0xF) ?? .null
    }

    /// The offset of a scalar's bytes; for a string, the first byte after the opening quote.
    @inline(__always) func offset(at index: Int) -> Int { Int(truncatingIfNeeded: words[index] >> 24) }

    /// The number of a scalar's bytes.
    @inline(__always) func length(at index: Int) -> Int {
        let length = words[index] >> 4 & Self.longest
        return Int(truncatingIfNeeded: length == Self.longest ? words[index + 1] : length)
    }

    /// The number of elements of an array, or of members of an object.
    @inline(__always) func elementCount(at index: Int) -> Int { Int(truncatingIfNeeded: words[index + 1]) }

    /// The index of an array's first element, or of an object's first name.
    @inline(__always) func first(in index: Int) -> Int { index + 2 }

    /// The index after the end of a value.
    @inline(__always) func next(after index: Int) -> Int {
        let word = words[index]
        if word & 0xF >= Kind.array.rawValue { return Int(truncatingIfNeeded: word >> 4) }
        return index + (word >> 4 & Self.longest == Self.longest ? 2 : 1)
    }

    // MARK: Writing

    @inline(__always) mutating func append(_ kind: Kind, offset: Int, length: Int) {
        if count + 2 > capacity { grow() }
        let isLong = length >= Self.longest
        let field = isLong ? Self.longest : UInt64(truncatingIfNeeded: length)
        words[count] = UInt64(truncatingIfNeeded: offset) << 24 | field << 4 | kind.rawValue
        count += 1
        if isLong {
            words[count] = UInt64(truncatingIfNeeded: length)
            count += 1
        }
    }

    /// Begins an array or an object in another one; returns its index.
    ///
    /// Until it ends, its first word has the index of the one around it.
    mutating func open(_ kind: Kind, in parent: Int) -> Int {
        if count + 2 > capacity { grow() }
        words[count] = UInt64(truncatingIfNeeded: parent) << 4 | kind.rawValue
        words[count + 1] = 0
        count += 2
        return count - 2
    }

    /// Counts an element or a member of an open array or object.
    @inline(__always) mutating func countElement(in index: Int) { words[index + 1] += 1 }

    /// Ends an array or an object; returns the index of the one around it.
    mutating func close(_ index: Int) -> Int {
        let parent = Int(truncatingIfNeeded: words[index] >> 4)
        words[index] = UInt64(truncatingIfNeeded: count) << 4 | words[index] & 0xF
        return parent
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: words, count: count)
        words.deallocate()
        words = larger
        capacity *= 2
    }
}
