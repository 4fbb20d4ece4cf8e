internal import Synchronization

extension Mutex {
    /// Replaces a property of the value, and releases the former one after the lock.
    ///
    /// The `deinit` of an object of the user's may use the owner of the mutex, which would acquire it twice. A result
    /// of `withLock` that is not used would not do: the optimizer releases it within the lock.
    package func replace<Property: Sendable>(
        _ property: any WritableKeyPath<Value, Property> & Sendable, with new: Property
    ) {
        let former = withLock { value in
            let former = value[keyPath: property]
            value[keyPath: property] = new
            return former
        }
        withExtendedLifetime(former) {}
    }
}
