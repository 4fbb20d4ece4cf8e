/// Sees to it that the elements of an array can be told apart in the style `a[][b]=1`, where nothing but a name that comes
/// again says that a new one begins (as Rack and ``QueryParser`` read it).
struct ElementBoundary {
    /// Where a name's part within the element begins.
    let start: Int
    /// How many names and arrays the array itself stands in.
    let (names, arrays): (Int, Int)

    /// The names that the element has, but for those within arrays in it.
    private var current: Set<[UInt8]> = []
    /// Those of the element before.
    private var before: Set<[UInt8]> = []
    private var (isFirst, hasValue) = (true, false)
    /// Whether the element, and the one before, is a dictionary.
    private var (isNamed, wasNamed) = (false, false)

    init(start: Int, names: Int, arrays: Int) {
        self.start = start
        (self.names, self.arrays) = (names, arrays)
    }

    /// An element begins. One before it without values is not there.
    mutating func begin() {
        guard hasValue else { return }
        (before, wasNamed) = (current, isNamed)
        (current, isNamed) = ([], false)
        (isFirst, hasValue) = (false, false)
    }

    /// Takes the next value's name; returns whether a reader puts the value into this element.
    ///
    /// - Parameters:
    ///   - name: The name's part within the element.
    ///   - isNamed: Whether a dictionary's name is in it. Plain values begin elements; what arrays in arrays are is lost.
    ///   - isListed: Whether it is within an array that is in the element; such a value never begins an element.
    mutating func take(_ name: ArraySlice<UInt8>, isNamed: Bool, isListed: Bool) -> Bool {
        let begins = !hasValue
        hasValue = true
        guard isNamed else { return true }
        self.isNamed = true
        let mayBegin = isFirst || !wasNamed
        guard !isListed else { return !begins || mayBegin }
        let name = Array(name)
        let isNew = current.insert(name).inserted
        return begins ? mayBegin || before.contains(name) : isNew
    }
}
