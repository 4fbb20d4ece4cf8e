extension ParameterValue {
    /// The value of a name, if this is a dictionary that has it: the last if there are several.
    ///
    /// Setting replaces the first in its place and removes the others, appends if there was none, and with nil removes.
    /// What was no dictionary becomes one.
    public subscript(key: String) -> ParameterValue? {
        get {
            guard case .dictionary(let entries) = self else { return nil }
            let key = NameBytes(key)
            return entries.last { NameBytes($0.key) == key }?.value
        }
        set {
            var entries: [Entry] = []
            if case .dictionary(let present) = self { entries = present }
            self = .null
            entries.set(key, newValue)
            self = .dictionary(entries)
        }
    }

    /// The value of a name, and `default` if there is none; what is changed in it is set.
    public subscript(key: String, default value: @autoclosure () -> ParameterValue) -> ParameterValue {
        get { self[key] ?? value() }
        set { self[key] = newValue }
    }

    /// The element at an index, if this is an array or a set that has it. Setting an index that is not there does
    /// nothing.
    public subscript(index: Int) -> ParameterValue? {
        get {
            switch self {
            case .array(let values), .set(let values):
                guard values.indices.contains(index) else { return .none }
                return values[index]
            default: return .none
            }
        }
        set {
            // A `nil` beside values is null, since null is written so.
            guard let newValue, case .some = self[index] else { return }
            replaceElements { $0[index] = newValue }
        }
    }

    /// Adds an element at the end of an array or a set; what was neither becomes an array of this one.
    public mutating func append(_ value: ParameterValue) {
        replaceElements { $0.append(value) }
    }

    private mutating func replaceElements(_ change: (inout [ParameterValue]) -> Void) {
        let isSet = isSet
        var values = takeElements()
        change(&values)
        self = isSet ? .set(values) : .array(values)
    }

    private var isSet: Bool { if case .set = self { true } else { false } }

    /// Moves the elements out; there are none in what is neither an array nor a set. A function of its own, so that no
    /// second reference is left when they are changed, which would copy them all.
    private mutating func takeElements() -> [ParameterValue] {
        switch self {
        case .array(let values), .set(let values):
            self = .null
            return values
        default: return []
        }
    }
}

extension [ParameterValue.Entry] {
    fileprivate mutating func set(_ key: String, _ value: ParameterValue?) {
        let name = NameBytes(key)
        let place = firstIndex { NameBytes($0.key) == name }
        removeAll { NameBytes($0.key) == name }
        if let value { insert(Element(key, value), at: place ?? count) }
    }
}
