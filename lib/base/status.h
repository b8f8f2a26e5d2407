/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes returned by every fallible function of the tree. Zero is success, positive values are
 * expected outcomes and not errors, negative values are errors whose detail sits in struct fsc_err.
 * The set is closed: server/api/errors.c holds the only table from these to HTTP.
 */
#ifndef FSC_BASE_STATUS_H
#define FSC_BASE_STATUS_H

enum fsc_status {
	FSC_OK = 0,
	FSC_END = 1,   /* no more items */
	FSC_AGAIN = 2, /* nothing now, call again later */

	FSC_EINVAL = -1,       /* the caller or the request asked for something malformed */
	FSC_EPARSE = -2,       /* input bytes break the format they claim to be in */
	FSC_ELIMIT = -3,       /* a limit of base/limits.h or of the configuration was passed */
	FSC_ENOMEM = -4,       /* memory could not be had */
	FSC_EIO = -5,	       /* the operating system refused a read or a write */
	FSC_ENOTFOUND = -6,    /* the named thing is not there */
	FSC_EEXIST = -7,       /* the named thing is there already, with other content */
	FSC_ECORRUPT = -8,     /* checksum mismatch or truncation */
	FSC_EUNSUPPORTED = -9, /* recognised, but not a thing we read */
	FSC_EBUSY = -10,       /* a lock or lease is held elsewhere */
	FSC_EFULL = -11,       /* no space left for what was asked */
	FSC_EDENIED = -12,     /* not permitted */
	FSC_ECANCELED = -13,   /* stopped on request or by a deadline */
	FSC_EBUG = -14,	       /* a programmer error was caught in a release build */
};

/* Stable lower-case name of a status ("parse", "limit", ...), never NULL. Any thread. */
const char *fsc_status_name(enum fsc_status st);

/* Gives an error on to the caller, where nothing is to be undone. */
#define FSC_TRY(call)                         \
	do {                                  \
		enum fsc_status st_ = (call); \
		if (st_ != FSC_OK)            \
			return st_;           \
	} while (0)

#endif
