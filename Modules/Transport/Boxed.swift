/// A value behind one reference, copied when it is written to while somebody else holds it.
///
/// For what is large and rarely looked at: a function that throws has room in its frame for the error of each call, and a
/// response is copied on its way up.
package struct Boxed<Value: Sendable>: Sendable {
    // SAFETY: `value` is written to only while one `Boxed` refers to the storage, by who has exclusive access to it.
    private final class Storage: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    package init(_ value: Value) {
        storage = Storage(value)
    }

    package var value: Value {
        get { storage.value }
        set {
            if isKnownUniquelyReferenced(&storage) {
                storage.value = newValue
            } else {
                storage = Storage(newValue)
            }
        }
    }
}
