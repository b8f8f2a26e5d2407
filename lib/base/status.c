/* SPDX-License-Identifier: Apache-2.0 */
/* Names of status codes. */
#include "base/status.h"

const char *fsc_status_name(enum fsc_status st)
{
	switch (st) {
	case FSC_OK:
		return "ok";
	case FSC_END:
		return "end";
	case FSC_AGAIN:
		return "again";
	case FSC_EINVAL:
		return "invalid";
	case FSC_EPARSE:
		return "parse";
	case FSC_ELIMIT:
		return "limit";
	case FSC_ENOMEM:
		return "no_memory";
	case FSC_EIO:
		return "io";
	case FSC_ENOTFOUND:
		return "not_found";
	case FSC_EEXIST:
		return "exists";
	case FSC_ECORRUPT:
		return "corrupt";
	case FSC_EUNSUPPORTED:
		return "unsupported";
	case FSC_EBUSY:
		return "busy";
	case FSC_EFULL:
		return "full";
	case FSC_EDENIED:
		return "denied";
	case FSC_ECANCELED:
		return "canceled";
	case FSC_EBUG:
		return "bug";
	}
	return "unknown";
}
